import { BlockList, isIP } from 'node:net';
import { parseAddress } from '../kernel/values.ts';

/** Slack's limit for the address of a button. */
const MAX_URL_LENGTH = 3_000;

/** Networks of IANA's special-purpose registry: not public. */
const PRIVATE_IPV4 = `0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24
192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4`.split(
	/\s/,
);
/** Everything outside 2000::/3, and the networks within it that are reserved or hold IPv4 addresses. */
const PRIVATE_IPV6 = ['::/3', '4000::/2', '8000::/1', '2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

/** Two lists, because in one list Node would find every IPv4 address in `::/3`. */
const PRIVATE = { ipv4: listOf('ipv4', PRIVATE_IPV4), ipv6: listOf('ipv6', PRIVATE_IPV6) };

function listOf(version: 'ipv4' | 'ipv6', networks: readonly string[]): BlockList {
	const list = new BlockList();
	for (const network of networks) {
		const [address = '', prefix] = network.split('/');
		list.addSubnet(address, Number(prefix), version);
	}
	return list;
}

/** Names that no public server has: reserved, or used inside networks. */
const PRIVATE_ENDS =
	'local(?:host|domain)?|internal|intranet|private|corp|home|lan|(?:home|in-addr|ip6)\\.arpa|test|onion|svc|docker';
const PRIVATE_NAME = new RegExp(`^[^.]*$|(?:^|\\.)(?:${PRIVATE_ENDS})$`);

/** Decides whether people get an address as a link. `host`: shown beside it; null for the service and the dashboard. */
export function createLinks({ serviceUrl, dashboardUrl }: { serviceUrl: string; dashboardUrl: string | null }) {
	const service = URL.parse(serviceUrl);
	const ownHosts = new Set([service?.host, URL.parse(dashboardUrl ?? '')?.host]);

	return (address: string | null) => {
		if (address === null) return { kind: 'none' } as const;
		// The link is normalised like in a browser, so the shown host is the one that it opens.
		const url = parseAddress(address);
		if (url === null || url.href.length > MAX_URL_LENGTH || /[\s<>"|\\]/.test(address))
			return refused('not a usable link');
		if (url.username !== '' || url.password !== '') return refused('user name in the link');
		// Not compared by `origin`, because a blob: address has the origin of the page that made it.
		if (url.protocol === service?.protocol && url.host === service.host)
			return { kind: 'link', url: url.href, host: null } as const;
		if (url.protocol !== 'https:') return refused('not https');
		// Names are not looked up, so a public name that leads into a private network passes.
		if (isPrivate(url.hostname)) return refused('private network');
		return { kind: 'link', url: url.href, host: ownHosts.has(url.host) ? null : url.host } as const;
	};
}

export type Links = ReturnType<typeof createLinks>;

const refused = <Why extends string>(why: Why) => ({ kind: 'refused', why }) as const;

/** `hostname` as URL returns it: lower case, IPv4 as four decimal numbers, IPv6 in brackets, dots at the end kept. */
function isPrivate(hostname: string): boolean {
	const name = hostname.replace(/^\[|\]$/g, '').replace(/(?<!\.)\.+$/, '');
	const version = ({ 4: 'ipv4', 6: 'ipv6' } as const)[isIP(name)];
	return version === undefined ? PRIVATE_NAME.test(name) : PRIVATE[version].check(name, version);
}

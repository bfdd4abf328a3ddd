import { BlockList, isIP } from 'node:net';

/** Why an address from the service does not become a link. */
export type RefusedLink = 'privateNetwork' | 'notHttps' | 'userName' | 'unusable';

export type Link =
	/** The service gave no address. */
	| { readonly kind: 'none' }
	/** `host`, with its port, is shown beside it; null for the service's own and the dashboard's. */
	| { readonly kind: 'link'; readonly url: string; readonly host: string | null }
	| { readonly kind: 'refused'; readonly why: RefusedLink };

/** Decides what an address of a file or screenshot becomes. */
export type Links = (address: string | null) => Link;

/** Slack's limit. */
const LONGEST = 3_000;

/** Not public by the registries of IANA. */
const PRIVATE_IPV4 = [
	'0.0.0.0/8',
	'10.0.0.0/8',
	'100.64.0.0/10',
	'127.0.0.0/8',
	'169.254.0.0/16',
	'172.16.0.0/12',
	'192.0.0.0/24',
	'192.0.2.0/24',
	'192.88.99.0/24',
	'192.168.0.0/16',
	'198.18.0.0/15',
	'198.51.100.0/24',
	'203.0.113.0/24',
	'224.0.0.0/4',
	'240.0.0.0/4',
];
/** All but 2000::/3, and in that what is reserved or holds IPv4 addresses. */
const PRIVATE_IPV6 = ['::/3', '4000::/2', '8000::/1', '2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

/** Two lists, because Node finds every IPv4 address in the IPv6 network of mapped addresses. */
const PRIVATE = { ipv4: listOf('ipv4', PRIVATE_IPV4), ipv6: listOf('ipv6', PRIVATE_IPV6) };

function listOf(version: 'ipv4' | 'ipv6', networks: readonly string[]): BlockList {
	const list = new BlockList();
	for (const network of networks) {
		const [address = '', prefix] = network.split('/');
		list.addSubnet(address, Number(prefix), version);
	}
	return list;
}

/** Names that no public server has: reserved, or in use within networks. */
const PRIVATE_NAME =
	/^[^.]*$|(?:^|\.)(?:localhost|local|localdomain|internal|intranet|private|corp|home|lan|home\.arpa|in-addr\.arpa|ip6\.arpa|test|onion|svc|docker)$/;

/**
 * Decides by an address alone whether people get it as a link: https, to a public host, without a user name. Names are not
 * looked up, so a public name that leads into a private network passes. The service's own origin is always allowed.
 */
export function createLinks({ serviceUrl, dashboardUrl }: { serviceUrl: string; dashboardUrl: string | null }): Links {
	const service = URL.parse(serviceUrl);
	const usual = new Set([service?.host, URL.parse(dashboardUrl ?? '')?.host]);

	return (address) => {
		if (address === null) return { kind: 'none' };
		// Normalised as browsers do, so that everybody reads the same host.
		const url = URL.parse(address);
		if (url === null || url.href.length > LONGEST || /[\s<>"|\\]/.test(address)) return refused('unusable');
		if (url.username !== '' || url.password !== '') return refused('userName');
		// Not by `origin`: a blob: address has that of the page that made it.
		if (url.protocol === service?.protocol && url.host === service.host)
			return { kind: 'link', url: url.href, host: null };
		if (url.protocol !== 'https:') return refused('notHttps');
		if (isPrivate(url.hostname)) return refused('privateNetwork');
		return { kind: 'link', url: url.href, host: usual.has(url.host) ? null : url.host };
	};
}

function refused(why: RefusedLink): Link {
	return { kind: 'refused', why };
}

/**
 * `hostname` as URL gives it: lower case, IPv4 in four decimal numbers however it was written, IPv6 in brackets. URL takes
 * any number of dots at the end; who resolves the name may ignore them.
 */
function isPrivate(hostname: string): boolean {
	const name = hostname.replace(/^\[|\]$/g, '').replace(/\.+$/, '');
	const version = ({ 4: 'ipv4', 6: 'ipv6' } as const)[isIP(name)];
	return version === undefined ? PRIVATE_NAME.test(name) : PRIVATE[version].check(name, version);
}

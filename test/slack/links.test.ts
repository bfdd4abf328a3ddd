import { describe, expect, it } from 'vitest';
import { createLinks } from '../../src/slack/links.ts';

const links = createLinks({
	serviceUrl: 'https://service.example:8443/api',
	dashboardUrl: 'https://dash.example/app',
});

describe('createLinks', () => {
	it.each([
		['https://bucket.example/a.pdf?X-Amz-Signature=1&b=%2F', 'bucket.example'],
		['https://bucket.example:444/a', 'bucket.example:444'],
		['HTTPS://Bucket.Example/a', 'bucket.example'],
		['https://bücher.example/a', 'xn--bcher-kva.example'],
		['https://аpple.example/a', 'xn--pple-43d.example'],
		['https://8.8.8.8/a', '8.8.8.8'],
		['https://172.15.255.255/a', '172.15.255.255'],
		['https://172.32.0.0/a', '172.32.0.0'],
		['https://100.63.255.255/a', '100.63.255.255'],
		['https://100.128.0.0/a', '100.128.0.0'],
		['https://192.167.1.1/a', '192.167.1.1'],
		['https://169.253.1.1/a', '169.253.1.1'],
		['https://11.0.0.1/a', '11.0.0.1'],
		['https://[2606:4700::1111]/a', '[2606:4700::1111]'],
		['https://[2a00:1450:4001::1]:444/a', '[2a00:1450:4001::1]:444'],
		['https://localhost.example/a', 'localhost.example'],
		['https://local.example/a', 'local.example'],
		['https://10.0.0.1.example/a', '10.0.0.1.example'],
		['https://service.example/a', 'service.example'],
		['https://dash.example:444/a', 'dash.example:444'],
	])('makes a link that shows its host: %s', (address, host) => {
		expect(links(address)).toEqual({ kind: 'link', url: new URL(address).href, host });
	});

	it.each(['https://service.example:8443/files/a', 'https://dash.example/files/a', 'https://DASH.example:443/a'])(
		'makes a link without a host for the service and the dashboard: %s',
		(address) => {
			expect(links(address)).toEqual({ kind: 'link', url: new URL(address).href, host: null });
		},
	);

	it.each([
		...'127.0.0.1 127.1 0x7f.1 2130706433 0x7f000001 017700000001 0177.0.0.1 １２７.0.0.1 127.0.0.1.'.split(' '),
		...'127.0.0.1.. localhost.. printer... 0.0.0.0 0 10.0.0.1 10.255.255.255 100.64.0.1'.split(' '),
		...'100.127.255.255 169.254.169.254 172.16.0.1 172.31.255.255 192.168.0.1 0xc0a80001 192.0.0.1'.split(' '),
		...'198.18.0.1 224.0.0.1 255.255.255.255 [::] [::1] [0:0:0:0:0:0:0:1] [::ffff:127.0.0.1]'.split(' '),
		...'[::ffff:8.8.8.8] [::ffff:c0a8:1] [::10.0.0.1] [64:ff9b::10.0.0.1] [fe80::1] [fec0::1]'.split(' '),
		...'[fc00::1] [fd12:3456::1] [ff02::1] [2002:a00:1::] [2001:db8::1] localhost LOCALHOST'.split(' '),
		...'localhost. lo\u00adcalhost %6cocalhost a.localhost printer.local wiki.internal'.split(' '),
		...'metadata.google.internal. router.lan nas.home.arpa 1.0.0.10.in-addr.arpa api.default.svc'.split(' '),
		...'shop.onion intranet wiki wiki.'.split(' '),
	])('refuses an address in a private network: %s', (host) => {
		expect(links(`https://${host}/a`)).toEqual({ kind: 'refused', why: 'private network' });
	});

	it.each([
		['http://bucket.example/a', 'not https'],
		['http://service.example:8443/a', 'not https'],
		['http://10.0.0.1/a', 'not https'],
		['ftp://bucket.example/a', 'not https'],
		['javascript:alert(1)', 'not https'],
		['data:text/html,x', 'not https'],
		['file:///etc/passwd', 'not https'],
		['blob:https://bucket.example/a', 'not https'],
		['blob:https://service.example:8443/a', 'not https'],
		['https://ada@bucket.example/a', 'user name in the link'],
		['https://ada:pw@bucket.example/a', 'user name in the link'],
		['https://:pw@bucket.example/a', 'user name in the link'],
		['https://dash.example@10.0.0.1/a', 'user name in the link'],
		['https://service.example:8443@evil.example/a', 'user name in the link'],
		['', 'not a usable link'],
		['a.pdf', 'not a usable link'],
		['//bucket.example/a', 'not a usable link'],
		['https://', 'not a usable link'],
		['https://[::1%25eth0]/a', 'not a usable link'],
		['https://bucket.example\\@evil.example/a', 'not a usable link'],
		['https://bucket.example/a b', 'not a usable link'],
		['https://bucket.example/|x>', 'not a usable link'],
		['https://bu\ncket.example/a', 'not a usable link'],
		[`https://bucket.example/${'a'.repeat(3_000)}`, 'not a usable link'],
	])('refuses an address: %s', (address, why) => {
		expect(links(address)).toEqual({ kind: 'refused', why });
	});

	it('makes no link without an address', () => {
		expect(links(null)).toEqual({ kind: 'none' });
	});

	it("allows the service's own origin in a private network, and no other origin there", () => {
		const local = createLinks({ serviceUrl: 'http://127.0.0.1:4000', dashboardUrl: 'http://dash.internal' });
		const url = 'http://127.0.0.1:4000/files/a';
		expect(local(url)).toEqual({ kind: 'link', url, host: null });
		expect(local('http://127.0.0.1:4001/a')).toEqual({ kind: 'refused', why: 'not https' });
		expect(local('https://127.0.0.1:4000/a')).toEqual({ kind: 'refused', why: 'private network' });
		expect(local('http://ada@127.0.0.1:4000/a')).toEqual({ kind: 'refused', why: 'user name in the link' });
		expect(local('https://dash.internal/a')).toEqual({ kind: 'refused', why: 'private network' });
	});
});

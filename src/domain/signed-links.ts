import { runSync } from '../kernel/slices.ts';

/** UTF-16 units that one step works on. They take a few milliseconds. */
export const PART = 65_536;

/** A character of prose, Markdown or Slack's markup that ends a URL. */
const URL_END = /[\s<>"'`|\\^{}[\]()]/g;

/** Parameters that sign a URL in S3 and compatible services, Google, CloudFront and Azure. */
const SIGNATURE =
	/[?&;](?:X-Amz-(?:Signature|Credential|Security-Token)|X-Goog-(?:Signature|Credential)|Signature|Key-Pair-Id|sig)=/i;
const LONGEST_SIGNATURE = 22;

/** Parameters that a signed URL loses: of signing, tokens and keys. Others may hold words that people must see. */
const SIGNS = [
	'X-[^=]*|AWSAccessKeyId|GoogleAccessId|Signature|Expires|Policy|Key-Pair-Id|Hash-Algorithm|sig|s[eiprstv]|spr|sip',
	'srt|sk(?:oid|tid|[estv])|(?:[a-z]+[_-]?)?token|api[_-]?key|secret|password',
];
const OF_SIGNING = new RegExp(`^(?:${SIGNS.join('|')})=`, 'i');

/** Removes the signatures of links such as `…/report.pdf?page=2&X-Amz-…`. They give access for days. */
export const withoutSignedLinks = (text: string) => runSync(unsigned(text));

/** `withoutSignedLinks` in steps. It finds URLs by `indexOf`: a pattern takes 20 times as long in a long text. */
export function* unsigned(text: string): Generator<void, string> {
	if (!text.includes('?')) return text;
	const parts: string[] = [];
	let from = 0;
	for (let colon = text.indexOf('://'); colon !== -1; colon = text.indexOf('://', Math.max(from, colon + 3))) {
		yield;
		const scheme = /https?$/i.exec(text.slice(Math.max(from, colon - 5), colon))?.[0];
		if (scheme === undefined) continue;
		URL_END.lastIndex = colon + 3;
		const end = URL_END.exec(text)?.index ?? text.length;
		if (end === colon + 3) continue;
		const start = colon - scheme.length;
		parts.push(text.slice(from, start), yield* withoutSignature(text.slice(start, end)));
		from = end;
	}
	return [...parts, text.slice(from)].join('');
}

function* withoutSignature(url: string): Generator<void, string> {
	let isSigned = false;
	for (let from = 0; from < url.length && !isSigned; from += PART) {
		isSigned = SIGNATURE.test(url.slice(from, from + PART + LONGEST_SIGNATURE));
		yield;
	}
	if (!isSigned) return url;
	const parts: string[] = [];
	let open = '';
	for (let from = 0; from < url.length; ) {
		// A part ends where a parameter begins.
		const length = url.slice(from + PART).search(/[?&;#]/);
		const to = length === -1 ? url.length : from + PART + length;
		const replaced = url.slice(from, to).replace(/(?<=[?&;#])[^?&;#]+/g, (one) => (OF_SIGNING.test(one) ? '…' : one));
		const part = (open + replaced).replace(/…(?:(?:&amp;|[&;])…)+/g, '…');
		// The next part may continue a run of removed parameters, which becomes one "…".
		open = /…(?:&(?:a(?:m(?:p;?)?)?)?|;)?$/.exec(part)?.[0] ?? '';
		parts.push(part.slice(0, part.length - open.length));
		from = to;
		yield;
	}
	return [...parts, open].join('');
}

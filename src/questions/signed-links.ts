/** A URL, up to the next character of prose, Markdown or Slack's markup. */
const URL_IN_TEXT = /https?:\/\/[^\s<>"'`|\\^{}[\]()]+/gi;

/** Parameters that sign a URL in S3 and compatible services, Google, CloudFront and Azure. */
const SIGNATURE =
	/[?&;](?:X-Amz-(?:Signature|Credential|Security-Token)|X-Goog-(?:Signature|Credential)|Signature|Key-Pair-Id|sig)=/i;

/** In a signed URL: what only the signing adds, and tokens and keys. Other parameters can hold words that people must see. */
const OF_SIGNING =
	/^(?:X-[^=]*|AWSAccessKeyId|GoogleAccessId|Signature|Expires|Policy|Key-Pair-Id|Hash-Algorithm|sig|s[eiprstv]|spr|sip|srt|sk(?:oid|tid|[estv])|(?:[a-z]+[_-]?)?token|api[_-]?key|secret|password)=/i;

/**
 * Removes the signature of pre-signed links, which give access for days. Agents quote the addresses that they open.
 * `https://bucket.example/report.pdf?page=2&X-Amz-…` becomes `https://bucket.example/report.pdf?page=2&…`.
 */
export function withoutSignedLinks(text: string): string {
	if (!text.includes('?')) return text;
	return text.replace(URL_IN_TEXT, (url) => (SIGNATURE.test(url) ? withoutSignature(url) : url));
}

function withoutSignature(url: string): string {
	const parameters = url.replace(/(?<=[?&;#])[^?&;#]+/g, (part) => (OF_SIGNING.test(part) ? '…' : part));
	return parameters.replace(/…(?:(?:&amp;|[&;])…)+/g, '…');
}

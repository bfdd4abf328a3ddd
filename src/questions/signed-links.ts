/** An address up to where prose, Markdown or Slack's markup goes on. */
const ADDRESS = /https?:\/\/[^\s<>"'`|\\^{}[\]()]+/gi;

/** Parameters that sign an address: S3 and its kin, Google, CloudFront, Azure. */
const SIGNATURE =
	/[?&;](?:X-Amz-(?:Signature|Credential|Security-Token)|X-Goog-(?:Signature|Credential)|Signature|Key-Pair-Id|sig)=/i;

/**
 * The text with pre-signed links cut off where their query begins: whoever has such a link has access for days, and agents
 * quote the addresses they open. `https://bucket.example/report.pdf?X-Amz-…` becomes `https://bucket.example/report.pdf?…`.
 */
export function withoutSignedLinks(text: string): string {
	if (!text.includes('?')) return text;
	return text.replace(ADDRESS, (address) =>
		SIGNATURE.test(address) ? `${address.slice(0, address.indexOf('?') + 1)}…` : address,
	);
}

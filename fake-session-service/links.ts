import { createHash } from 'node:crypto';

/** Pre-signed links are valid for seven days on the real service. A later read gives fresh ones. */
export const LINK_LIFETIME_MS = 7 * 24 * 60 * 60 * 1000;

function signature(path: string, issuedAt: number): string {
	return createHash('sha256').update(`fake-session-service:${path}:${issuedAt}`).digest('hex');
}

/** An absolute address of `path` with the look and expiry of a pre-signed object store link. */
export function signLink(baseUrl: string, path: string, issuedAt: number): string {
	const date = `${new Date(issuedAt).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
	const query = new URLSearchParams({
		'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
		'X-Amz-Credential': `AKIAFAKE/${date.slice(0, 8)}/eu-central-1/s3/aws4_request`,
		'X-Amz-Date': date,
		'X-Amz-Expires': String(LINK_LIFETIME_MS / 1000),
		'X-Amz-SignedHeaders': 'host',
		'x-issued': String(issuedAt),
		'X-Amz-Signature': signature(path, issuedAt),
	});
	return `${baseUrl}${path}?${query.toString()}`;
}

/** Whether a link with this query opens `path` at `now`. */
export function checkLink(path: string, query: URLSearchParams, now: number): 'ok' | 'expired' | 'forged' {
	const issuedAt = Number(query.get('x-issued') ?? Number.NaN);
	if (!Number.isFinite(issuedAt) || query.get('X-Amz-Signature') !== signature(path, issuedAt)) return 'forged';
	return now > issuedAt + LINK_LIFETIME_MS ? 'expired' : 'ok';
}

/**
 * Words that stand in the place of an id in other paths of the service (`GET /v1/sessions/query` lists sessions): what such
 * a request answers or does is not known here, so it is never sent.
 */
const RESERVED: ReadonlySet<string> = new Set(['file', 'files', 'list', 'new', 'query']);

/** Whether the service would take this for a path of its own. Letter case does not matter there, nor percent-encoding. */
export function isReservedId(id: string): boolean {
	return RESERVED.has(decoded(id).trim().toLowerCase());
}

function decoded(id: string): string {
	try {
		return decodeURIComponent(id);
	} catch {
		return id;
	}
}

import type { Context } from 'hono';
import { SlackError } from '../core.ts';
import { isRecord, type Json, parseJson } from '../json.ts';

/** Arguments that are JSON text in a form. */
const COMPLEX = ['blocks', 'view', 'metadata', 'attachments'];

/** Stays text when it is not JSON: the validator names the problem. */
function parsed(value: string): unknown {
	return parseJson(value) ?? value;
}

/** How Slack reads a body, by its content type (docs.slack.dev, errors of every method). */
const FORM_TYPES = ['application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain'];

function bodyArguments(type: string, body: string): Json {
	if (body === '') return {};
	if (type === '') throw new SlackError('missing_post_type');
	if (type === 'application/json') {
		const json = parseJson(body);
		if (json === undefined) throw new SlackError('invalid_json');
		if (!isRecord(json)) throw new SlackError('json_not_object');
		// Slack does not look for the token in a JSON body. It belongs in the header.
		const { token: _token, ...args } = json;
		return args;
	}
	if (!FORM_TYPES.includes(type)) throw new SlackError('invalid_post_type');
	return Object.fromEntries(new URLSearchParams(body));
}

/**
 * The arguments of a call, from a JSON body, a form or the query, and the token from the header or the form. `refused`
 * is the error for an unreadable body.
 */
export async function readArguments(
	context: Context,
): Promise<{ args: Json; token: string | undefined; refused: SlackError | null }> {
	const type = (context.req.header('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
	const body = await context.req.text();
	// Not from the query: apps made since February 2021 may not send it there (api.slack.com/changelog/2020-11).
	const { token: _token, ...query } = context.req.query();
	let args: Json = query;
	let refused: SlackError | null = null;
	try {
		args = { ...args, ...bodyArguments(type, body) };
	} catch (error) {
		if (!(error instanceof SlackError)) throw error;
		refused = error;
	}
	for (const key of COMPLEX) {
		const value = args[key];
		if (typeof value === 'string') args[key] = parsed(value);
	}
	const header = /^Bearer\s+(.+)$/i.exec(context.req.header('authorization') ?? '')?.[1];
	const token = header ?? (typeof args.token === 'string' ? args.token : undefined);
	delete args.token;
	return { args, token, refused };
}

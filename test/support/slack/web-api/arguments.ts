import type { Context } from 'hono';
import { isRecord, type Json } from '../json.ts';

/** Arguments that come as JSON text in a form. */
const COMPLEX = ['blocks', 'view', 'metadata', 'attachments', 'message', 'prompts'];

function parsed(value: string): unknown {
	try {
		return JSON.parse(value);
	} catch {
		return value;
	}
}

/** The arguments of a call, from a JSON body, a form or the query, and the token from the header or the body. */
export async function readArguments(context: Context): Promise<{ args: Json; token: string | undefined }> {
	const type = context.req.header('content-type') ?? '';
	const body = await context.req.text();
	let args: Json = { ...context.req.query() };
	if (type.startsWith('application/json')) {
		const json = body === '' ? {} : parsed(body);
		if (isRecord(json)) args = { ...args, ...json };
	} else {
		for (const [key, value] of new URLSearchParams(body)) args[key] = value;
	}
	for (const key of COMPLEX) {
		const value = args[key];
		if (typeof value === 'string') args[key] = parsed(value);
	}
	const header = /^Bearer\s+(.+)$/i.exec(context.req.header('authorization') ?? '')?.[1];
	const token = header ?? (typeof args.token === 'string' ? args.token : undefined);
	delete args.token;
	return { args, token };
}

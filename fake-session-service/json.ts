/**
 * What the service stores and sends, as loose as in practice: any field may be absent or null, and there are
 * undocumented keys. The app converts it to `Session` (src/domain/session.ts).
 */
export interface ItemJson {
	title?: string | null;
	description?: string | null;
	/** A string, or whatever the agent wrote. */
	value?: unknown;
	[other: string]: unknown;
}

export interface MessageJson {
	role?: string | null;
	content?: string | null;
	agent_data?: unknown;
	human_input?: ItemJson[] | null;
	[other: string]: unknown;
}

interface FileJson {
	filename?: string | null;
	signedUrl?: string | null;
	timestamp?: string | null;
	[other: string]: unknown;
}

export interface SessionJson {
	status?: string | null;
	name?: string | null;
	messages?: MessageJson[] | null;
	files?: FileJson[] | null;
	startTime?: string | null;
	endTime?: string | null;
	lastScreenshotUrl?: string | null;
	lastScreenshotTimestamp?: string | null;
	sessionVariables?: { name?: string | null; value?: string | null }[] | null;
	sessionDetails?: string | null;
	maxSteps?: number | null;
	[other: string]: unknown;
}

/** One item as the PUT carries it. */
export interface AnswerJson {
	title: string;
	description: string;
	value: string;
}

/** The service's page takes `0`, `false`, null and `""` for open. */
export function isAnswered(item: ItemJson): boolean {
	return Boolean(item.value);
}

/** The value as text; "" without one. */
export function textOf({ value }: ItemJson): string {
	return typeof value === 'string' ? value : value === null || value === undefined ? '' : JSON.stringify(value);
}

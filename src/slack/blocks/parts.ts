import type { Button, ContextBlock, DividerBlock, KnownBlock, ModalView, SectionBlock } from '@slack/types';
import type { ActionId, CallbackId } from '../ids.ts';
import { encodeMetadata, type ViewMetadata } from '../metadata.ts';
import { isBlank, mrkdwn, plain } from '../text.ts';

/** Slack's limits for what holds blocks. */
export const MODAL_BLOCKS = 100;
/** Slack takes 250 KB for a view; some room for how it counts. */
export const MODAL_BYTES = 240_000;

/** A section of mrkdwn that is safe already; nothing when there is nothing to see. */
export function section(text: string, extra: Partial<SectionBlock> = {}): SectionBlock[] {
	return isBlank(text) ? [] : [{ type: 'section', text: mrkdwn(text), ...extra }];
}

/** Small grey lines of mrkdwn that is safe already. */
export function context(...texts: readonly string[]): ContextBlock[] {
	const elements = texts
		.filter((text) => !isBlank(text))
		.slice(0, 10)
		.map(mrkdwn);
	return elements.length === 0 ? [] : [{ type: 'context', elements }];
}

export function divider(): DividerBlock {
	return { type: 'divider' };
}

export function button(actionId: ActionId, label: string, extra: Partial<Button> = {}): Button {
	return { type: 'button', action_id: actionId, text: plain(label, 75), ...extra };
}

/** A row of buttons; nothing when there are none. */
export function buttons(...some: readonly (Button | null)[]): KnownBlock[] {
	const elements = some.filter((one) => one !== null);
	return elements.length === 0 ? [] : [{ type: 'actions', elements }];
}

export interface ModalParts {
	readonly callbackId: CallbackId;
	readonly title: string;
	readonly blocks: readonly KnownBlock[];
	readonly metadata: ViewMetadata;
	/** Only where there are inputs. */
	readonly submit?: string;
	readonly close?: string;
	readonly notifyOnClose?: boolean;
}

export function modal(parts: ModalParts): ModalView {
	return {
		type: 'modal',
		callback_id: parts.callbackId,
		title: plain(parts.title, 24, 'Session'),
		close: plain(parts.close ?? 'Close', 24),
		...(parts.submit === undefined ? {} : { submit: plain(parts.submit, 24) }),
		...(parts.notifyOnClose === true ? { notify_on_close: true } : {}),
		private_metadata: encodeMetadata(parts.metadata),
		blocks: [...parts.blocks],
	};
}

/** An address of ours that a button can carry, else null. */
function webUrl(url: string | null): string | null {
	if (url === null || url.length > 3000 || !/^https?:\/\/[^\s<>"|\\]+$/i.test(url) || !URL.canParse(url)) return null;
	return url;
}

/** The session's page in the service's dashboard. */
export function dashboardLink(dashboardUrl: string | null, sessionId: string): string | null {
	if (dashboardUrl === null) return null;
	return webUrl(`${dashboardUrl}/sessions/session?id=${encodeURIComponent(sessionId.toWellFormed())}`);
}

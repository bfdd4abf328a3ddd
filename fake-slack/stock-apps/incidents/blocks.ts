import type { HomeView, KnownBlock, MessageMetadata, ModalView } from '@slack/types';

export interface Draft {
	channel: string;
	details: string;
}

const plain = (text: string) => ({ type: 'plain_text', text }) as const;
const mrkdwn = (text: string): KnownBlock => ({ type: 'section', text: { type: 'mrkdwn', text } });

export function usage(): KnownBlock[] {
	return [
		mrkdwn('Type `/incident` and *what happened*.'),
		{
			type: 'actions',
			elements: [
				{ type: 'button', action_id: 'share_usage', text: plain('Show everyone') },
				{ type: 'button', action_id: 'shorten_usage', text: plain('Shorten') },
				{ type: 'button', action_id: 'dismiss_usage', text: plain('Dismiss') },
			],
		},
	];
}

const minor = { text: plain('Minor'), value: 'minor' };
const severities = [minor, { text: plain('Major'), value: 'major' }, { text: plain('Critical'), value: 'critical' }];

export function incidentModal(draft: Draft, title = ''): ModalView {
	return {
		type: 'modal',
		callback_id: 'incident',
		private_metadata: JSON.stringify(draft),
		notify_on_close: true,
		title: plain('New incident'),
		submit: plain('Open'),
		close: plain('Cancel'),
		blocks: [
			{
				type: 'input',
				block_id: 'title',
				label: plain('What happened?'),
				element: { type: 'plain_text_input', action_id: 'text', ...(title === '' ? {} : { initial_value: title }) },
			},
			{
				type: 'input',
				block_id: 'severity',
				label: plain('Severity'),
				element: { type: 'static_select', action_id: 'choice', options: severities, initial_option: minor },
			},
			{
				type: 'input',
				block_id: 'service',
				optional: true,
				label: plain('Service'),
				element: { type: 'external_select', action_id: 'service', min_query_length: 2 },
			},
			...(draft.details === '' ? [] : [mrkdwn(`Details: ${draft.details}`)]),
			{
				type: 'actions',
				block_id: 'more',
				elements: [
					{ type: 'button', action_id: 'add_details', text: plain('Add details') },
					{ type: 'button', action_id: 'show_advice', text: plain('Show advice') },
				],
			},
		],
	};
}

export function withAdvice(draft: Draft): ModalView {
	const modal = incidentModal(draft);
	return { ...modal, blocks: [mrkdwn('Say what people notice, not what you suspect.'), ...modal.blocks] };
}

export function detailsModal(channel: string): ModalView {
	return {
		type: 'modal',
		callback_id: 'details',
		private_metadata: channel,
		title: plain('Details'),
		submit: plain('Add'),
		blocks: [
			{
				type: 'input',
				block_id: 'details',
				label: plain('Details'),
				element: { type: 'plain_text_input', action_id: 'text', multiline: true },
			},
		],
	};
}

export function confirmModal(incident: { channel: string; text: string }): ModalView {
	return {
		type: 'modal',
		callback_id: 'confirm',
		private_metadata: JSON.stringify(incident),
		title: plain('Wake somebody up?'),
		submit: plain('Yes'),
		blocks: [mrkdwn('A critical incident calls whoever is on duty.')],
	};
}

export function incidentMessage(text: string, status: 'open' | 'resolved'): KnownBlock[] {
	if (status === 'resolved') return [mrkdwn(`:white_check_mark: ${text}`)];
	return [
		mrkdwn(`:rotating_light: ${text}`),
		{
			type: 'actions',
			elements: [
				{ type: 'button', action_id: 'resolve', text: plain('Resolve'), value: text },
				{ type: 'button', action_id: 'withdraw', text: plain('Withdraw'), style: 'danger' },
				{ type: 'external_select', action_id: 'service', placeholder: plain('Move to service'), min_query_length: 2 },
			],
		},
	];
}

export function incidentMetadata(status: 'open' | 'resolved'): MessageMetadata {
	return { event_type: 'incident', event_payload: { status } };
}

export function statusOf(metadata: MessageMetadata): string {
	const { status } = metadata.event_payload;
	return typeof status === 'string' ? status : 'unknown';
}

export function home(user: string, count: number): HomeView {
	return {
		type: 'home',
		blocks: [
			mrkdwn(`*Welcome home, <@${user}>*`),
			mrkdwn(`Incidents so far: ${count}`),
			{
				type: 'actions',
				elements: [{ type: 'button', action_id: 'refresh_home', text: plain('Refresh') }],
			},
		],
	};
}

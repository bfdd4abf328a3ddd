import { type Core, SlackError } from '../core.ts';
import { type Json, text } from '../json.ts';
import { requireDownloadableImages } from '../messages.ts';
import type { View } from '../state.ts';
import { checkTrigger } from '../triggers.ts';
import {
	openView,
	publishHome,
	pushView,
	replaceView,
	requireHash,
	requireValidView,
	requireViewType,
	viewForApp,
} from '../views.ts';
import { type Methods, required, TIER } from './method.ts';

function answer(core: Core, view: View): Json {
	return { view: viewForApp(core, view, false) };
}

/** The `view` argument after Slack has accepted it, with its images downloaded. */
function viewArg(core: Core, args: Json, method: string, type?: 'modal' | 'home'): Json {
	const view = requireValidView(core, args.view, method);
	if (type !== undefined) requireViewType(core, view, type, method);
	requireDownloadableImages(core, view.blocks, 'invalid_arguments');
	return view;
}

function existing(core: Core, args: Json): View {
	const externalId = text(args, 'external_id');
	const id = text(args, 'view_id');
	if (id === undefined && externalId === undefined) required(args, 'view_id');
	// "Either view_id or external_id": that both are refused is stricter than documented.
	if (id !== undefined && externalId !== undefined) {
		const messages = ['[ERROR] only one of view_id and external_id may be given'];
		throw new SlackError('invalid_arguments', { response_metadata: { messages } });
	}
	const views = Object.values(core.state.views);
	const view = views.find((one) => (id === undefined ? one.externalId === externalId : one.id === id));
	if (!view) throw new SlackError('not_found');
	return view;
}

export const viewMethods: Methods = {
	'views.open': {
		token: 'bot',
		scopes: [],
		perMinute: TIER.four,
		run({ core, args }) {
			const payload = viewArg(core, args, 'views.open', 'modal');
			checkTrigger(core, args.trigger_id);
			return answer(core, openView(core, args.trigger_id, payload));
		},
	},
	'views.push': {
		token: 'bot',
		scopes: [],
		perMinute: TIER.four,
		run({ core, args }) {
			const payload = viewArg(core, args, 'views.push', 'modal');
			return answer(core, pushView(core, args.trigger_id, payload));
		},
	},
	'views.update': {
		token: 'bot',
		scopes: [],
		perMinute: TIER.four,
		run({ core, args }) {
			const payload = viewArg(core, args, 'views.update');
			const view = existing(core, args);
			requireViewType(core, payload, view.type, 'views.update');
			requireHash(view, args.hash);
			replaceView(core, view, payload);
			return answer(core, view);
		},
	},
	'views.publish': {
		token: 'bot',
		scopes: [],
		perMinute: TIER.four,
		run({ core, args }) {
			const user = required(args, 'user_id');
			if (!core.settings.homeTab) throw new SlackError('not_enabled');
			if (!core.state.people.some((one) => one.id === user)) throw new SlackError('user_not_found');
			const payload = viewArg(core, args, 'views.publish', 'home');
			return answer(core, publishHome(core, user, args.hash, payload));
		},
	},
};

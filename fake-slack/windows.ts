import type { Core } from './core.ts';
import type { View, Window } from './state.ts';

export const MAIN_WINDOW = 'main';

/** A person's window, created at the first use. */
export function windowOf(core: Core, user: string, id: string): Window {
	const found = core.state.windows.find((one) => one.user === user && one.id === id);
	if (found) return found;
	const window: Window = { user, id, stack: [] };
	core.state.windows.push(window);
	return window;
}

/** The view that a person sees in a window, or undefined when no modal is open. */
export function topView(core: Core, user: string, id: string): View | undefined {
	const top = windowOf(core, user, id).stack.at(-1);
	return top === undefined ? undefined : core.state.views[top];
}

/**
 * Reloads or quits the client: its modals leave the screen, and the app gets no event. Slack keeps them: views.update
 * succeeds, and their external_id stays taken (slackapi/slack-api-specs #52).
 */
export function reloadWindow(core: Core, user: string, id: string): void {
	const window = windowOf(core, user, id);
	const { stack } = window;
	window.stack = [];
	for (const view of stack) core.changes.emit({ kind: 'view', id: view });
}

/** Removes views from the screen and from views.update. */
export function removeViews(core: Core, ids: readonly string[]): void {
	for (const window of core.state.windows) window.stack = window.stack.filter((id) => !ids.includes(id));
	for (const id of ids) {
		delete core.state.views[id];
		core.changes.emit({ kind: 'view', id });
	}
}

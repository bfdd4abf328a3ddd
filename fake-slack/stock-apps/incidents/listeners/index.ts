import type { App } from '@slack/bolt';
import * as actions from './actions.ts';
import * as commands from './commands.ts';
import * as events from './events.ts';
import * as options from './options.ts';
import * as shortcuts from './shortcuts.ts';
import * as views from './views.ts';

export function registerListeners(app: App): void {
	actions.register(app);
	commands.register(app);
	events.register(app);
	options.register(app);
	shortcuts.register(app);
	views.register(app);
}

import type { SlackCore } from '../../src/slack/slack-core.ts';
import type { Store } from '../../src/stores.ts';

type Core = SlackCore<Store>;

/** A `core` for a part that a test builds alone. What the part takes has to be given here: anything else throws. */
export function coreOf(given: { readonly [Name in keyof Core]?: Partial<Core[Name]> }): Core {
	return new Proxy(given, {
		get(target, name) {
			if (!(name in target)) throw new Error(`this test gives no core.${String(name)}`);
			return target[name as keyof Core];
		},
	}) as Core;
}

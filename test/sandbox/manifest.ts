import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';

const schema = z.object({
	display_information: z.object({ name: z.string() }),
	features: z.object({
		slash_commands: z.array(
			z.object({
				command: z.string(),
				description: z.string().default(''),
				usage_hint: z.string().default(''),
				should_escape: z.boolean().default(false),
			}),
		),
		shortcuts: z.array(z.object({ type: z.string(), name: z.string(), callback_id: z.string() })).default([]),
	}),
	oauth_config: z.object({ scopes: z.object({ bot: z.array(z.string()) }) }),
	settings: z.object({ event_subscriptions: z.object({ bot_events: z.array(z.string()) }) }),
});

export type Manifest = z.infer<typeof schema>;

/** The project's own manifest: the sandbox's Slack knows the app as the real one would. */
export function readManifest(): Manifest {
	return schema.parse(parse(readFileSync(new URL('../../manifest.yml', import.meta.url), 'utf8')));
}

import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';

const named = z.array(z.string()).default([]);

/**
 * The parts of an app manifest that change how Slack treats the app or what its client shows (docs.slack.dev, "App
 * manifest reference").
 */
const manifestSchema = z.object({
	display_information: z.object({ name: z.string() }),
	features: z
		.object({
			app_home: z
				.object({
					home_tab_enabled: z.boolean().default(false),
					messages_tab_enabled: z.boolean().default(true),
					messages_tab_read_only_enabled: z.boolean().default(false),
				})
				.prefault({}),
			bot_user: z.object({ display_name: z.string() }).optional(),
			slash_commands: z
				.array(
					z.object({
						command: z.string(),
						description: z.string().default(''),
						usage_hint: z.string().default(''),
						should_escape: z.boolean().default(false),
					}),
				)
				.default([]),
			shortcuts: z
				.array(z.object({ type: z.literal('message'), name: z.string().default(''), callback_id: z.string() }))
				.default([]),
		})
		.prefault({}),
	oauth_config: z.object({ scopes: z.object({ bot: named }).prefault({}) }).prefault({}),
	settings: z
		.object({
			event_subscriptions: z.object({ bot_events: named }).prefault({}),
		})
		.prefault({}),
});

export type Manifest = z.infer<typeof manifestSchema>;

/**
 * An app from its manifest: parsed, or the path of a YAML or JSON file. The error names the fields that are missing or
 * wrong.
 */
export function readManifest(manifest: unknown): Manifest {
	const isPath = typeof manifest === 'string';
	const read = manifestSchema.safeParse(isPath ? parse(readFileSync(manifest, 'utf8')) : manifest);
	if (read.success) return read.data;
	throw new Error(`${isPath ? manifest : 'This'} is no app manifest:\n${z.prettifyError(read.error)}`);
}

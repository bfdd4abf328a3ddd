import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFakeSessionService } from '../../fake-session-service/fake-session-service.ts';
import { createFakeSlack, type FakeSlackOptions } from '../../fake-slack/index.ts';
import { connectionEnv } from '../../sandbox/connection-env.ts';
import { manifestPath } from '../../sandbox/manifest-path.ts';

/** A Slack, a session service and a folder for programs that tests start as processes of their own. */
export async function createWorld(
	ofSlack: FakeSlackOptions = {},
	ofService: Parameters<typeof createFakeSessionService>[0] = {},
) {
	const slack = await createFakeSlack({ waitMs: 45_000, manifest: manifestPath, ...ofSlack });
	const service = createFakeSessionService(ofService);
	await service.start();
	const dataDir = await mkdtemp(join(tmpdir(), 'handraise-world-'));
	return {
		slack,
		service,
		dataDir,
		/** What connects a program to them. */
		env: { ...connectionEnv({ slack, service }), PORT: '0', DATA_DIR: dataDir } as Readonly<Record<string, string>>,
		async [Symbol.asyncDispose]() {
			await slack.close();
			await service.stop();
			await rm(dataDir, { recursive: true, force: true });
		},
	};
}

export type World = Awaited<ReturnType<typeof createWorld>>;

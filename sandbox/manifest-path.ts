import { fileURLToPath } from 'node:url';

/** The manifest of this app, for the fake Slack. */
export const manifestPath = fileURLToPath(new URL('../manifest.yml', import.meta.url));

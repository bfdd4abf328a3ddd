import { fileURLToPath } from 'node:url';

/** The manifest of this app: what the fake Slack knows of it. */
export const manifestPath = fileURLToPath(new URL('../manifest.yml', import.meta.url));

import { fileURLToPath } from 'node:url';

export const manifestPath = fileURLToPath(new URL('../manifest.yml', import.meta.url));

import { measureCases } from './cases.ts';
await measureCases(process.argv[2] ?? '');
process.exit(0);

import type { Scenario } from '../agents.ts';
import { demo } from './demo.ts';

/** Every scenario of the service, by the session id that people type. */
export const SCENARIOS: readonly Scenario[] = [demo];

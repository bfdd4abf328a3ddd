import { parentPort, workerData } from 'node:worker_threads';
import { FLOODS, type FloodName, type Target } from './http-floods.ts';

/** A thread of its own for who floods: the fake Slack must not be slow because of that. */
const { name, target } = workerData as { readonly name: FloodName; readonly target: Target };
parentPort?.postMessage(await FLOODS[name](target));

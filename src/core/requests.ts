import { AsyncLocalStorage } from 'node:async_hooks';

const request = new AsyncLocalStorage<string | null>();

/** Runs the work of a request from Slack. `id`: the `request` of its log lines. */
export const inRequest = <Result>(id: string, work: () => Result): Result => request.run(id, work);

/** Runs what a request only causes. */
export const outsideRequests = (work: () => void): void => request.run(null, work);

/** The id of the request that the caller works for; null: for none. */
export const currentRequest = (): string | null => request.getStore() ?? null;

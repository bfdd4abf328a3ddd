import { AsyncLocalStorage } from 'node:async_hooks';

/** A request of a person. `id`: the field `request` of its log lines. `action`: the command, button or window. */
type Requester = Readonly<Record<'id' | 'userId' | 'action', string>>;

const request = new AsyncLocalStorage<Requester | null>();

/** Runs the work of a request. Null: work that a request caused, but is not part of it. */
export const inRequest = <Result>(by: Requester | null, work: () => Result): Result => request.run(by, work);

/** The request that the caller works for; null: none. */
export const currentRequest = (): Requester | null => request.getStore() ?? null;

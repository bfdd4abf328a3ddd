/** Puts `value` in as the newest entry and drops the oldest one when there are more than `most`: a bound on what is kept. */
export function keepNewest<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, most: number): void {
	map.delete(key);
	map.set(key, value);
	const oldest = map.keys().next();
	if (map.size > most && !oldest.done) map.delete(oldest.value);
}

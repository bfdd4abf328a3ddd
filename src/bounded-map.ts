/** Sets an entry as the newest one, and drops the oldest one if there are more than `limit`. */
export function setBounded<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, limit: number): void {
	map.delete(key);
	map.set(key, value);
	const oldest = map.keys().next();
	if (map.size > limit && !oldest.done) map.delete(oldest.value);
}

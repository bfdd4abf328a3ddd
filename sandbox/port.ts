/** Whether another program listens there. */
function isTaken(error: unknown): boolean {
	return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
}

/** Listens on a port, or on a free one (0) when it is busy. */
export async function onPortOrFree<T>(port: number, listen: (port: number) => Promise<T>): Promise<T> {
	try {
		return await listen(port);
	} catch (error) {
		if (port === 0 || !isTaken(error)) throw error;
		return listen(0);
	}
}

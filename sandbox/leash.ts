/*
 * Loaded into the app's process before the app (`node --import`): ends it when the sandbox dies, so that no app is left
 * behind. The sandbox holds the other end of its standard input.
 */
process.stdin.on('end', () => process.kill(process.pid, 'SIGKILL'));
process.stdin.on('error', () => process.kill(process.pid, 'SIGKILL'));
process.stdin.resume();
// The app may still end by itself.
process.stdin.unref();

import childProcess from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';
import { Server, Socket } from 'node:net';
import sqlite from 'node:sqlite';

/** Set-up of the lane `rules`: whatever reaches for the network, a database or a process fails there. */
function refuse(): never {
	throw new Error('Tests of the lane "rules" are pure. Take this file out of RULES in test/support/lanes.ts.');
}

Socket.prototype.connect = refuse;
Server.prototype.listen = refuse;
Object.assign(sqlite, { DatabaseSync: refuse });
for (const name of ['spawn', 'spawnSync', 'exec', 'execSync', 'execFile', 'execFileSync', 'fork'] as const) {
	Object.assign(childProcess, { [name]: refuse });
}
syncBuiltinESMExports();

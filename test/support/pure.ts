import { Server, Socket } from 'node:net';
import { DatabaseSync } from 'node:sqlite';

/** Set-up of the lane `rules`: whatever reaches for the network or a database fails there. */
function refuse(): never {
	throw new Error('Tests of the lane "rules" are pure. Take this file out of RULES in test/support/lanes.ts.');
}

Socket.prototype.connect = refuse;
Server.prototype.listen = refuse;
DatabaseSync.prototype.open = refuse;

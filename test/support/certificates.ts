import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIP } from 'node:net';

// X.509 certificates for tests (RFC 5280), in DER by hand: Node.js reads certificates and writes none.

export interface Certificate {
	/** PEM. */
	readonly cert: string;
	readonly key: string;
}

/** An authority of one's own. */
export interface Authority extends Certificate {
	/** A certificate for these host names and addresses; `name` is its common name. */
	issue(name: string, hosts?: readonly string[]): Certificate;
}

const DAY_MS = 86_400_000;
/** Object identifiers, already encoded. */
const OID = {
	commonName: '0603550403',
	ecdsaWithSha256: '06082a8648ce3d040302',
	basicConstraints: '0603551d13',
	subjectAltName: '0603551d11',
};

const hex = (text: string) => Buffer.from(text, 'hex');

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
	const body = Buffer.concat(parts);
	const { length } = body;
	const sizes = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
	return Buffer.concat([Buffer.from([tag, ...sizes]), body]);
}

const sequence = (...parts: readonly Buffer[]) => der(0x30, ...parts);
const nameOf = (commonName: string) =>
	sequence(der(0x31, sequence(hex(OID.commonName), der(0x0c, Buffer.from(commonName)))));
const timeAt = (ms: number) => der(0x18, Buffer.from(new Date(ms).toISOString().replace(/[-:T]|\.\d+/g, '')));
const extension = (oid: string, value: Buffer) => sequence(hex(oid), der(0x04, value));

function hostOf(host: string): Buffer {
	return isIP(host) === 4 ? der(0x87, Buffer.from(host.split('.').map(Number))) : der(0x82, Buffer.from(host));
}

function certificate(
	subject: { readonly name: string; readonly publicKey: KeyObject },
	issuer: { readonly name: string; readonly privateKey: KeyObject },
	extensions: readonly Buffer[],
): string {
	const algorithm = sequence(hex(OID.ecdsaWithSha256));
	const signed = sequence(
		der(0xa0, hex('020102')),
		der(0x02, Buffer.from([1]), randomBytes(8)),
		algorithm,
		nameOf(issuer.name),
		sequence(timeAt(Date.now() - DAY_MS), timeAt(Date.now() + DAY_MS)),
		nameOf(subject.name),
		subject.publicKey.export({ type: 'spki', format: 'der' }),
		...(extensions.length === 0 ? [] : [der(0xa3, sequence(...extensions))]),
	);
	const signature = der(0x03, Buffer.from([0]), sign('sha256', signed, issuer.privateKey));
	const lines = sequence(signed, algorithm, signature)
		.toString('base64')
		.match(/.{1,64}/g);
	return ['-----BEGIN CERTIFICATE-----', ...(lines ?? []), '-----END CERTIFICATE-----', ''].join('\n');
}

const pem = (key: KeyObject) => String(key.export({ type: 'pkcs8', format: 'pem' }));

export function createAuthority(name: string): Authority {
	const own = generateKeyPairSync('ec', { namedCurve: 'P-256' });
	const issuer = { name, privateKey: own.privateKey };
	return {
		cert: certificate({ name, publicKey: own.publicKey }, issuer, [
			extension(OID.basicConstraints, sequence(hex('0101ff'))),
		]),
		key: pem(own.privateKey),
		issue(subject, hosts = []) {
			const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
			const names = hosts.length === 0 ? [] : [extension(OID.subjectAltName, sequence(...hosts.map(hostOf)))];
			return { cert: certificate({ name: subject, publicKey }, issuer, names), key: pem(privateKey) };
		},
	};
}

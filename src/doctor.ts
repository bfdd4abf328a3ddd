import { readSettings } from './config.ts';
import { examine } from './doctor/examine.ts';
import { counted, lineOf } from './doctor/finding.ts';

/** `npm run doctor`: looks at a set-up, says what is wrong and what to do, and ends with 1 if anything is. */
async function main(): Promise<void> {
	const findings = await examine(readSettings(process.env), process.versions.node);
	for (const finding of findings) console.log(lineOf(finding));
	const wrong = findings.filter(({ verdict }) => verdict === 'failure').length;
	const warnings = findings.filter(({ verdict }) => verdict === 'warning').length;
	const also = warnings === 0 ? '' : ` (and ${counted(warnings, 'warning')})`;
	console.log(wrong === 0 ? `All is well${also}.` : `${counted(wrong, 'thing')} to mend${also}.`);
	process.exitCode = wrong === 0 ? 0 : 1;
}

await main();

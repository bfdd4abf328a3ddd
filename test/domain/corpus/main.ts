import { resolve } from 'node:path';
import { readCorpus, scoreOf } from './score.ts';

/*
 * `npm run corpus`: what Handraise makes of the questions of the files beside this one, or of the file that is named behind
 * `--`, in figures, and each case that fails.
 */

const [path] = process.argv.slice(2);
const own = ['questions.jsonl', 'asked-by-others.jsonl'].map((name) => new URL(name, import.meta.url));

const percent = ({ count, of }: { count: number; of: number }) =>
	`${of === 0 ? '–' : `${((100 * count) / of).toFixed(1)} %`} (${count} of ${of})`;

for (const file of path === undefined ? own : [resolve(path)]) {
	const cases = readCorpus(file);
	const { failures, ...figures } = scoreOf(cases);
	for (const failure of failures) console.log(failure);
	console.log(`
${cases.length} questions, ${failures.length} with a fault
wrong buttons on a post      ${figures.wrongPress}
buttons where all want them  ${percent(figures.press)}
  in English                 ${percent(figures.pressInEnglish)}
  in other languages         ${percent(figures.pressElsewhere)}
  for decisions              ${percent(figures.decisions)}
wrong choice fields          ${figures.wrongChoices}
choice fields                ${percent(figures.choices)}
inputs that suit             ${percent(figures.inputs)}
secrets missed               ${percent(figures.secretsMissed)}
falsely taken for secret     ${percent(figures.secretsTaken)}`);
}

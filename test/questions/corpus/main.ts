import { resolve } from 'node:path';
import { readCorpus, scoreOf } from './score.ts';

/*
 * `npm run corpus`: what Handraise makes of the questions of questions.jsonl, or of the file that is named behind `--`, in
 * figures, and each case that fails.
 */

const [path] = process.argv.slice(2);
const cases = readCorpus(path === undefined ? new URL('questions.jsonl', import.meta.url) : resolve(path));
const { failures, ...figures } = scoreOf(cases);

const percent = ({ count, of }: { count: number; of: number }) =>
	`${of === 0 ? '–' : `${((100 * count) / of).toFixed(1)} %`} (${count} of ${of})`;

for (const failure of failures) console.log(failure);
console.log(`
${cases.length} questions, ${failures.length} with a fault
wrong buttons on a post      ${figures.wrongPress}
buttons where all want them  ${percent(figures.press)}
  in English                 ${percent(figures.pressInEnglish)}
  in other languages         ${percent(figures.pressElsewhere)}
wrong choice fields          ${figures.wrongChoices}
choice fields                ${percent(figures.choices)}
inputs that suit             ${percent(figures.inputs)}
secrets missed               ${percent(figures.secretsMissed)}
falsely taken for secret     ${percent(figures.secretsTaken)}`);

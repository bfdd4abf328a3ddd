import { describeForms } from './describe-answers.ts';

describeForms('sqlite');

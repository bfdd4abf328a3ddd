import { describeForms, describePresses } from './describe-answers.ts';

describeForms('sqlite');
describePresses('sqlite');

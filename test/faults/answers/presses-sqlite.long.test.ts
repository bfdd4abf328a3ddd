import { describePresses } from './describe-answers.ts';

describePresses('sqlite');

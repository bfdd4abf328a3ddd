import { describeAnswers } from './describe-answers.ts';

describeAnswers('postgres');

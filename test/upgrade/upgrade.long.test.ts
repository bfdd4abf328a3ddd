import { RELEASES } from './releases.ts';
import { upgradeSuite } from './suite.ts';

for (const release of RELEASES) upgradeSuite(release, 'sqlite');

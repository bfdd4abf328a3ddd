import { unpackBrowser } from '../../sandbox/browser.ts';

/**
 * Unpacks the browser before the workers start. On a fresh machine one worker would start the file while another still
 * writes it, which fails with ETXTBSY.
 */
export default unpackBrowser;

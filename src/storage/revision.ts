/**
 * The store's clock. Every write that succeeds takes the next revision; revisions never repeat and never go back.
 * 0 stands for "before anything was written".
 */
export type Revision = number

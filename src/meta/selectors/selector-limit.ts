// Limits how many requirements the selector of a request may have. All of them are compared with every object of a list and with
// every event of a watch, and a URL of 1 MiB has room for 500,000. The values of one requirement are a set and cost nothing.

export const MAX_REQUIREMENTS = 1_000

export const TOO_MANY_REQUIREMENTS = `a selector may have at most ${MAX_REQUIREMENTS} requirements`

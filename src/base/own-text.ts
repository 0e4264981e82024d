/**
 * The same text in memory of its own. V8 keeps a text that was cut out of a longer one as a reference to that: a name that is
 * kept for long would keep the body of the request that it came with. Not for texts with half of a surrogate pair.
 */
export const ownText = (text: string): string => Buffer.from(text).toString()

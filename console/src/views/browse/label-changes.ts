// `team=red tier-` as kubectl reads it: labels to set and to remove (null in a merge patch).

export function parseLabelChanges(text: string): {
  readonly changes: Readonly<Record<string, string | null>>
  readonly problem?: string
} {
  const changes: Record<string, string | null> = {}
  for (const word of text.split(/[\s,]+/).filter(Boolean)) {
    const set = /^([^=]+)=([^=]*)$/.exec(word)
    const removed = /^([^=]+)-$/.exec(word)
    if (set) changes[set[1]!] = set[2]!
    else if (removed) changes[removed[1]!] = null
    else return { changes: {}, problem: `${word} is neither name=value nor name-` }
  }
  return { changes }
}

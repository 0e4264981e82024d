import { expect, test } from 'vitest'
import type { KeyValue } from './client/messages.js'
import { checkSameData } from './replaced-data.js'

const header = { clusterId: 7, revision: 20, raftTerm: 4 }
const put = { path: '/a', revision: 12, isDelete: false }
const key = (modRevision: number): KeyValue => ({
  key: Buffer.from('/a'),
  value: Buffer.alloc(0),
  createRevision: 1,
  modRevision,
  version: 1,
})
const known = { revision: 15, header, last: put }

test.each([
  ['the same data, in a later term', known, { ...header, raftTerm: 5 }, key(12)],
  ['nothing known yet', { revision: 15, header: undefined, last: undefined }, header, undefined],
  ['a deleted key', { ...known, last: { ...put, isDelete: true } }, header, undefined],
])('%s is no other data', (_, before, now, found) => {
  expect(() => checkSameData(before, now, found)).not.toThrow()
})

test.each([
  ['another cluster', known, { ...header, clusterId: 8 }, key(12), 'it is another cluster'],
  ['an earlier term', known, { ...header, raftTerm: 2 }, key(12), 'its raft term was 4, and is 2'],
  ['a key without the last write', known, header, key(9), 'the write of revision 12 is not in it'],
  ['no key', known, header, undefined, 'the write of revision 12 is not in it'],
  [
    'a key that was deleted',
    { ...known, last: { ...put, isDelete: true } },
    header,
    key(9),
    'the write of revision 12',
  ],
])('%s is other data', (_, before, now, found, message) => {
  expect(() => checkSameData(before, now, found)).toThrow(message)
})

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readSnapshot } from './snapshots.js'

let directory: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'binnacle-snapshots-'))
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const HEAD = '["binnacle-snapshot-1",5]'

test('the entries of a snapshot are read', async () => {
  const file = join(directory, 'right')
  writeFileSync(file, gzipSync(`${HEAD}\n["/registry/a",4,"eA=="]`))
  const { revision, entries } = await readSnapshot(file)
  expect([revision, entries.get('/registry/a')]).toEqual([
    5,
    { key: '/registry/a', revision: 4, value: Buffer.from('x') },
  ])
})

test.each([
  ['no head', 'null'],
  ['another head', '["x",1]'],
  ['a revision that is none', '["binnacle-snapshot-1",-1]'],
  ['an entry that is no list', `${HEAD}\nnull`],
  ['a key that is no text', `${HEAD}\n[{},1,""]`],
  ['a value that is no text', `${HEAD}\n["/a",1,{"length":1e9}]`],
  ['an entry after the last revision', `${HEAD}\n["/a",6,""]`],
  ['no JSON', `${HEAD}\n[`],
])('a file with %s is no snapshot', async (_what, text) => {
  const file = join(directory, 'wrong')
  writeFileSync(file, gzipSync(text))
  await expect(readSnapshot(file)).rejects.toThrow('is not a snapshot')
})

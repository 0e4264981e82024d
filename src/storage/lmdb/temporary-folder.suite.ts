// Where tests that open many stores put them: in memory where that is possible, as none of them is about the disk.
import { existsSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const BASE = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

export const temporaryFolder = (): Promise<string> => mkdtemp(join(BASE, 'binnacle-lmdb-'))

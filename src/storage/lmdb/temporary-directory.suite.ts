// A directory for tests that open many stores: in memory where possible, because these tests do not depend on the disk.
import { existsSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const BASE = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

export const temporaryDirectory = (): Promise<string> => mkdtemp(join(BASE, 'binnacle-lmdb-'))

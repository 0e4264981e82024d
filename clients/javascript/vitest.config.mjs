import { defineConfig } from 'vitest/config'

// oxlint-disable-next-line import/no-default-export -- Vitest reads it
export default defineConfig({ test: { include: ['tests/vitest.test.mjs', 'tests/failing/vitest.mjs'] } })

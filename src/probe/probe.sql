/* src/probe/probe.sql */

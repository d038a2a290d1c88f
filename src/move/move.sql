/* src/move/move.sql */

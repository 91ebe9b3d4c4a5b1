/* SPDX-License-Identifier: GPL-2.0-only */
/* Hooks that do nothing: what -finstrument-functions itself costs, whoever is called. */
void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);

void __attribute__((no_instrument_function)) __cyg_profile_func_enter(void *function, void *site)
{
	(void)function;
	(void)site;
}

void __attribute__((no_instrument_function)) __cyg_profile_func_exit(void *function, void *site)
{
	(void)function;
	(void)site;
}
